"""Fourier transforms: every form, norm and length that takes another way."""

from __future__ import annotations

import torch

from tests.e2e.registry import c64, case, f32

fft = torch.fft

for _norm in ("backward", "ortho", "forward"):
    case(f"fft_{_norm}", lambda x, n=_norm: fft.fft(x, norm=n), c64("B", 6), loose=4)
case(
    "frequencies",
    lambda x: (x * fft.fftfreq(6, 0.1), x * fft.fftfreq(6)[3], x[:, :4] * fft.rfftfreq(7, d=3.0)),
    f32("B", 6),
)
case("fft_of_real", fft.fft, f32("B", 5), loose=4)
case("ifft", fft.ifft, c64("B", 7), loose=4)
case("rfft", fft.rfft, f32("B", 8), loose=4)
case("rfft_padded", lambda x: fft.rfft(x, n=9), f32("B", 6), loose=4)
case("fft_padded", lambda x: fft.fft(x, n=9), c64("B", 6), loose=4)
case("irfft", fft.irfft, c64("B", 5), loose=4)
case("irfft_odd", lambda x: fft.irfft(x, n=7, norm="ortho"), c64("B", 5), loose=4)
case("hfft", fft.hfft, c64("B", 4), loose=9)
case("ihfft", fft.ihfft, f32("B", 6), loose=4)
case("fft2", fft.fft2, c64("B", 4, 5), loose=9)
case("fftn", fft.fftn, f32(3, 4, 5), loose=9)
case("ifft2", fft.ifft2, c64(3, 4, 5), loose=9)
case("rfftn", lambda x: fft.rfftn(x, dim=(0, 2)), f32(4, 3, 5), loose=9)
case("irfftn", lambda x: fft.irfftn(x, dim=(0, 2)), c64(4, "B", 5), loose=9)
case("fft_along_another", lambda x: fft.fft(x, dim=0), c64(4, 3), loose=9)
case("rfft_split", fft.rfft, f32("B", 384), loose=20)
case("irfft_split", lambda x: fft.irfft(x, n=384), c64("B", 193), loose=20)
case("fft_of_prime_length", fft.fft, c64("B", 131), loose=20)
case("fftshift", lambda x: (fft.fftshift(x), fft.ifftshift(x, dim=1)), f32("B", 5))
case(
    "stft",
    lambda x, w: torch.view_as_real(torch.stft(x, 16, 4, window=w, return_complex=True)),
    f32("B", 64),
    f32(16),
    loose=9,
)
case(
    "spectral_filter",
    lambda x, h: fft.irfft(fft.rfft(x) * fft.rfft(h), n=12),
    f32("B", 12),
    f32(12),
    loose=20,
)

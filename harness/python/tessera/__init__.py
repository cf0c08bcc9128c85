"""Tessera: tensor kernels whose every bit is known beforehand."""

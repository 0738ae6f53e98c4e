"""Measurements, run by hand (`make bench`), never as tests: machines are shared and noisy."""

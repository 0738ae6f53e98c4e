"""Heads and layers that draft from a target's hidden states, on llama.cpp, MLX and numpy."""

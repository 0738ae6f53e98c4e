"""MLX behind the Decoder protocol, with mlx-lm's models."""

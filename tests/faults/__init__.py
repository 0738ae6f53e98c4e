"""What goes wrong outside the program, made on purpose: broken streams, damaged databases."""

"""Endless questions for reinforcement learning, and what trainers load them by."""

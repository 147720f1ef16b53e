"""Epochs per Dollar: what does it cost to train a model, and on what should it be trained?"""

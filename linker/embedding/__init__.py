"""Pages to vectors: the text a page is embedded by, and the encoders."""

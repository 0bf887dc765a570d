"""What pages are for: found from their addresses, names, texts and links. Pure: no Django, no SQL."""

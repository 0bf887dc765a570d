"""Pages and links by crawling the site: see connector.py, and process.py for what runs apart."""

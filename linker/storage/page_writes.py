"""Updates of many pages."""

# PostgreSQL reads the expressions of a table's generated columns anew for each row that it updates, as long as none of
# them has to be computed: four fifths of what the update takes. With a column that one of them is made of among those
# that are set, here to what it holds, it reads them once.
KEEP_PLANS = "role_by_rule = p.role_by_rule"

printf '%s\n' b a c b | sort; printf '%s\n' 10 9 -1 9 | sort -n -u; printf '%s\n' b a c | sort -r

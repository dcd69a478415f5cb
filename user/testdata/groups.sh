echo x > f; ln -sf f g; [ -L g ] && cat g; printf 'B\na\nb\n' | grep -in b; printf '%s\n' 1 10 9 9 | sort -nru; seq 5 | head -n 2

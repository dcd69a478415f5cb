i=0; while [ $i -lt 5 ]; do i=$((i + 1)); [ $i = 3 ] && continue; echo $i; done; case abc in a*) echo case;; esac

echo hello | tee t1 t2; cat t1 t2; echo more | tee -a t1 >/dev/null; cat t1

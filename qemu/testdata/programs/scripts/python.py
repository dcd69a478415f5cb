# Threads, processes, files and signals, by Python.
import errno, fcntl, hashlib, json, mmap, os, re, select, signal, struct, subprocess, tempfile, threading, time

print(json.dumps({"power": 2**100, "list": [1, 2.5, None]}), re.sub("[aeiou]", "_", "instrument"))
print(hashlib.sha256(b"x" * 100000).hexdigest(), struct.pack("<Hd", 1, 0.5).hex())

found, lock = [], threading.Lock()
def work(n):
    total = sum(range(n * 10000))
    with lock:
        found.append(total)
threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
for t in threads: t.start()
for t in threads: t.join()
print(sorted(found))

r, w = os.pipe()
pid = os.fork()
if pid == 0:
    os.write(w, b"from the child")
    os._exit(3)
print(os.read(r, 100), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

print(subprocess.run(["sort", "-r"], input="a\nc\nb\n", capture_output=True, text=True).stdout.split())
print(subprocess.run(["/nothing"] if os.path.exists("/nothing") else "exit 4", shell=True).returncode)

with tempfile.TemporaryFile() as f:
    f.write(b"0123456789" * 1000)
    f.flush()
    with mmap.mmap(f.fileno(), 0) as m:
        m[5:8] = b"abc"
        print(m[:10], len(m), m.find(b"abc"))
    f.seek(4)
    print(f.read(6))

with tempfile.NamedTemporaryFile() as f:
    fcntl.lockf(f, fcntl.LOCK_EX, 10)
    def child():
        with open(f.name, "r+") as g:
            fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 10)
            try:
                fcntl.lockf(g, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, 9)
            except OSError as e:
                os.write(w, errno.errorcode[e.errno].encode())
            kind, _, start, n, owner = struct.unpack("hhqqi4x", fcntl.fcntl(g, fcntl.F_GETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0)))
            os.write(w, b" %d %d %d %d" % (kind, start, n, owner == os.getppid()))
            fcntl.lockf(g, fcntl.LOCK_EX)
            os.write(w, b" then all")
    if (pid := os.fork()) == 0:
        child()
        os._exit(0)
    said = os.read(r, 100)
    while not said.endswith(b" 1"): said += os.read(r, 100)
    open(f.name).close() # any descriptor of the file ends its locks
    print(said, os.read(r, 100), os.waitpid(pid, 0)[1])

came = []
signal.signal(signal.SIGALRM, lambda number, frame: came.append(number))
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02) # again and again: the first may come before pause
signal.pause()
signal.setitimer(signal.ITIMER_REAL, 0)
print("signal", came[0])

p = select.poll()
p.register(r, select.POLLIN)
print(p.poll(10))
os.write(w, b"x")
print(p.poll(10) == [(r, select.POLLIN)], select.select([r], [], [], 1)[0] == [r])
e = select.epoll()
e.register(r, select.EPOLLIN)
print(e.poll(1) == [(r, select.EPOLLIN)])
start = time.monotonic()
time.sleep(0.02)
print(time.monotonic() - start >= 0.02)
raise SystemExit(5)

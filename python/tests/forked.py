"""What tests of forked processes append to the code that forks."""

# Waits for the process `child` and prints its exit code, or that it never ended.
WAIT_FOR_CHILD = """
import time
for _ in range(600):
    ended, status = os.waitpid(child, os.WNOHANG)
    if ended:
        print(os.waitstatus_to_exitcode(status))
        break
    time.sleep(0.1)
else:
    os.kill(child, 9)
    print("dead lock")
"""

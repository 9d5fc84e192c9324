"""Controls a headless Chromium through its DevTools protocol over a pipe, with Python's standard library only."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path


class Browser:
    """Shows one page at a time. `problems` has the errors of its console, and `requests` the requested addresses. The given
    files of JavaScript are evaluated in each page after it was loaded."""

    @staticmethod
    def find():
        return next(
            (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
        )

    def __init__(self, *scripts):
        self._scripts = [Path(script).read_text(encoding="utf-8") for script in scripts]
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self._to = os.pipe()
        self._from, from_write = os.pipe()

        def connect():  # Chromium reads file 3 and writes file 4
            read, write = os.dup(to_read), os.dup(from_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self._process = subprocess.Popen(
            [
                self.find(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
                f"--user-data-dir={self.profile.name}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=connect,
        )
        os.close(to_read)
        os.close(from_write)
        self._buffer, self._last, self._session = b"", 0, None
        self.problems, self.requests, self._loaded = [], [], False
        target = next(t for t in self.send("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def close(self):
        os.close(self._to)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)
        self.profile.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _receive(self):
        while b"\0" not in self._buffer:
            more = os.read(self._from, 1 << 20)
            if not more:
                raise RuntimeError("Chromium ended")
            self._buffer += more
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def _note(self, message):
        event, details = message.get("method"), message.get("params", {})
        if event == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(details["exceptionDetails"])[:500])
        elif event == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(details["args"])[:500])
        elif event == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
            self.problems.append(details["entry"]["text"])
        elif event == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])
        elif event == "Page.javascriptDialogOpening":
            self.problems.append(f"a dialog: {details['message']}")
        elif event == "Page.loadEventFired":
            self._loaded = True

    def send(self, method, **parameters):
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def cpu_seconds(self):
        """Returns the processor time of the browser's processes until now."""
        parents, seconds = {}, {}
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
            except OSError:  # it has just ended
                continue
            parents[int(process)] = int(fields[1])
            seconds[int(process)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        def is_ours(process):
            return process == self._process.pid or (process in parents and is_ours(parents[process]))

        return sum(time for process, time in seconds.items() if is_ours(process))

    def open(self, path, width=1280, height=900, dark=False, address=""):
        """Opens a file in a window of this size. `address` is the part of its address after #."""
        if address:  # another address of the same page would not load it again
            self.open_url("about:blank")
        self.problems, self.requests, self._loaded = [], [], False
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.send(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )
        self.open_url("file://" + os.path.abspath(path) + (f"#{address}" if address else ""))

    def open_url(self, url):
        self._loaded = False
        self.send("Page.navigate", url=url)
        while not self._loaded:
            self._note(self._receive())
        for script in self._scripts:
            self.run(f"{script}; 0")

    def run(self, script):
        """Returns the value of an expression, or of its promise."""
        answer = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    def pixels(self, left, top, width, height):
        """Returns the red values of a part of the page, row after row. It needs pages/shared.js."""
        clip = {"x": left, "y": top, "width": width, "height": height, "scale": 1}
        picture = self.send("Page.captureScreenshot", clip=clip)["data"]
        return self.run(f"test.reds('{picture}')")

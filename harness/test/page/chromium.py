"""chromium.py - a headless Chromium driven over its DevTools protocol: two pipes, messages of JSON that end in NUL."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """The program, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        path = shutil.which(name)
        if path:
            return path
    return None


class Browser:
    """One browser with one page. What it logs and asks for is kept in `errors` and `asked`."""

    def __init__(self, program, timeout_s=60):
        self.folder = tempfile.mkdtemp(prefix="tsr-chromium-")
        self.timeout_s = timeout_s
        self.errors, self.asked = [], []
        self.buffer, self.number, self.session = b"", 0, None
        to_read, self.to_write = os.pipe()
        self.to_hear, to_tell = os.pipe()
        # The protocol wants file descriptors 3 and 4, which a shell can give it.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_tell}', "bash", program, "--headless=new",
             "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--font-render-hinting=none", "--force-color-profile=srgb",
             f"--user-data-dir={self.folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(to_read, to_tell))
        os.close(to_read)
        os.close(to_tell)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            self.call(f"{domain}.enable")

    def _receive(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.to_hear], [], [], left)[0]:
                raise TimeoutError("Chromium does not answer")
            piece = os.read(self.to_hear, 1 << 20)
            if not piece:
                raise RuntimeError("Chromium has ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        kind, about = event["method"], event.get("params", {})
        if kind == "Network.requestWillBeSent":
            self.asked.append(about["request"]["url"])
        elif kind == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(about["exceptionDetails"])[:500])
        elif kind == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(about["args"])[:500])
        elif kind == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.errors.append(about["entry"]["text"])

    def call(self, method, **parameters):
        """One command and its answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + self.timeout_s
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self._note(answer)

    def evaluate(self, expression):
        """The value of a JavaScript expression; an exception in it is one here."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:800])
        return answer["result"].get("value")

    def size(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def theme(self, name):
        self.call("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, path):
        """Loads a file and waits until it has drawn itself; seconds from asking to that."""
        began = time.monotonic()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while not self.evaluate("document.readyState === 'complete' && document.documentElement.hasAttribute('data-ready')"):
            if time.monotonic() - began > self.timeout_s:
                raise TimeoutError("the page does not get ready")
            time.sleep(0.01)
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")
        return time.monotonic() - began

    def key(self, name, code=None, modifiers=0):
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                 "ArrowDown": 40}
        number = code or codes[name]
        extra = {"text": "\r"} if name == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=number,
                      modifiers=modifiers, **(extra if kind == "keyDown" else {}))

    def shot(self, scale=1.0, whole=True, clip=None):
        """A PNG of the page."""
        if clip is None:
            box = self.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight, innerHeight]")
            clip = [0, 0, box[0], box[1] if whole else box[2]]
        x, y, width, height = clip
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                           clip={"x": x, "y": y, "width": width, "height": height, "scale": scale})
        return base64.b64decode(answer["data"])

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, TimeoutError, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to_write)
        os.close(self.to_hear)
        shutil.rmtree(self.folder, ignore_errors=True)

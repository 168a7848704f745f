"""A real browser, driven over a pipe with the DevTools protocol: pages are opened, clicked and typed into, and every request is seen."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from documentation import browser


class Browser:
    """One headless Chromium with one page; ``console`` collects errors and warnings, ``requests`` the addresses asked for."""

    def __init__(self) -> None:
        """Start the browser; it has no network."""
        self.profile = tempfile.mkdtemp()
        to_child, self._write = os.pipe()
        self._read, from_child = os.pipe()
        arguments = [
            browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
            "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "--host-resolver-rules=MAP * ~NOTFOUND", "about:blank",
        ]  # fmt: skip
        script = f'exec 3<&{to_child} 4>&{from_child}; exec "$@"'
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", script, "bash", *arguments],
            pass_fds=(to_child, from_child),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(from_child)
        self._buffer, self._last, self._session = b"", 0, ""
        self.console: list[str] = []
        self.requests: list[str] = []
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.send("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> Any:
        """Send one command and return its result."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                assert "error" not in answer, (method, answer)
                return answer["result"]

    def _next(self, limit: float = 120) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], limit)
            read = os.read(self._read, 1 << 20) if ready else b""
            assert read, "the browser does not answer"
            self._buffer += read
        one, self._buffer = self._buffer.split(b"\0", 1)
        answer: dict[str, Any] = json.loads(one)
        self._note(answer)
        return answer

    def _note(self, answer: dict[str, Any]) -> None:
        method, said = answer.get("method"), answer.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = said["exceptionDetails"]
            self.console.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and said["type"] in {"error", "warning", "assert"}:
            self.console.append(" ".join(str(one.get("value", one.get("description"))) for one in said["args"]))
        elif method == "Log.entryAdded" and said["entry"]["level"] in {"error", "warning"}:
            self.console.append(said["entry"]["text"])

    def run(self, script: str) -> Any:
        """Evaluate a script, wait for what it promises, and return its value."""
        done = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]["exception"].get("description")
        return done["result"].get("value")

    def open(self, address: str, ready: str) -> None:
        """Open an address and wait until a condition holds."""
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=address)
        self.wait(ready)

    def wait(self, condition: str, seconds: float = 90) -> None:
        """Wait until a condition holds in the page."""
        until = time.monotonic() + seconds
        while not self.run(f"Boolean({condition})"):
            assert time.monotonic() < until, (condition, self.console)
            time.sleep(0.05)

    def size(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Set the width of the window and the colours that the system asks for."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", features=features)

    def key(self, name: str, code: int) -> None:
        """Press a key."""
        for kind in ("rawKeyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.send("Input.insertText", text=text)

    def centre(self, selector: str) -> tuple[float, float]:
        """Scroll to an element and return its middle, once it rests: formulas are set while the page is read already."""
        find = f"const one = document.querySelector({json.dumps(selector)}); one.scrollIntoView({{block: 'center'}});"
        middle = "const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2];"
        last: list[float] = []
        until = time.monotonic() + 60
        while last != (last := self.run(f"(() => {{ {find} {middle} }})()")):
            assert time.monotonic() < until, f"{selector} does not rest"
            time.sleep(0.1)
        return last[0], last[1]

    def hover(self, selector: str) -> None:
        """Move the mouse onto an element."""
        x, y = self.centre(selector)
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str) -> None:
        """Click in the middle of an element."""
        x, y = self.centre(selector)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left", clickCount=1)

    def choose_file(self, selector: str, path: Path) -> None:
        """Give a file to a field for files."""
        node = self.send("DOM.querySelector", nodeId=self.send("DOM.getDocument")["root"]["nodeId"], selector=selector)["nodeId"]
        self.send("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def drop(self, selector: str, path: Path) -> None:
        """Drop a file onto an element."""
        x, y = self.centre(selector)
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.send("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Take a picture of the window, or of the whole page."""
        taken = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(taken["data"]))

    def close(self) -> None:
        """End the browser."""
        os.close(self._write)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        shutil.rmtree(self.profile, ignore_errors=True)

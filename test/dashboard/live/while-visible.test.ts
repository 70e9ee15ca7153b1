import { test } from "tap";
import { type Visibility, whileVisible } from "../../../dashboard/live/while-visible.ts";

/** A page whose visibility can be changed. */
function createPage() {
  const page = Object.assign(new EventTarget(), { visibilityState: "visible" });
  return {
    page: page as Visibility,
    turn(visibilityState: "visible" | "hidden") {
      page.visibilityState = visibilityState;
      page.dispatchEvent(new Event("visibilitychange"));
    },
  };
}

test("stops when the page has been hidden for a while, and starts again when it is visible", async (t) => {
  const { page, turn } = createPage();
  const runs: AbortSignal[] = [];
  const end = whileVisible((signal) => runs.push(signal), { page, hiddenMs: 20 });
  t.equal(runs.length, 1);
  const [first] = runs;
  const isEnded = new Promise((resolve) => first?.addEventListener("abort", resolve));
  turn("hidden");
  t.equal(first?.aborted, false, "not at once");
  await isEnded;
  turn("visible");
  t.equal(runs.length, 2);
  end();
  t.equal(runs[1]?.aborted, true);
  turn("hidden");
  turn("visible");
  t.equal(runs.length, 2, "not after it was stopped");
});

test("a glance at another tab stops nothing", async (t) => {
  const { page, turn } = createPage();
  const runs: AbortSignal[] = [];
  const end = whileVisible((signal) => runs.push(signal), { page, hiddenMs: 50 });
  turn("hidden");
  turn("visible");
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.equal(runs.length, 1);
  t.equal(runs[0]?.aborted, false);
  end();
});

test("a page opened in the background starts when it becomes visible", async (t) => {
  const { page, turn } = createPage();
  turn("hidden");
  const runs: AbortSignal[] = [];
  const end = whileVisible((signal) => runs.push(signal), { page, hiddenMs: 10 });
  t.equal(runs.length, 0);
  turn("visible");
  t.equal(runs.length, 1);
  end();
});

import { createAnswerView } from "./answer-view.ts";
import type { CallableMethod } from "./callable-method.ts";
import { createConfirmation } from "./confirmation.ts";
import { button, element } from "./element.ts";
import { sendCall } from "./send-call.ts";
import { createSessionNote } from "./session-note.ts";

const maxRows = 16;

/** Creates the panel that calls a method: the request, what a change would do, and the answer. */
export function createTryPanel(method: CallableMethod): HTMLElement {
  const { path, isStream, isChange, hasPlan, takesIdempotencyKey } = method;
  const editor = element("textarea", {
    value: method.request,
    rows: Math.min(method.request.split("\n").length + 1, maxRows),
    spellcheck: false,
  });
  const session = createSessionNote();
  const answer = createAnswerView(isStream);
  const send = button(isChange ? (hasPlan ? "Plan …" : "Send …") : "Send", begin, "primary");
  const stop = button("Stop", () => running?.abort());
  const question = createQuestionPlace(send);
  let running: AbortController | undefined;
  let isBusy = false;
  stop.hidden = true;

  function begin(): void {
    const mistake = mistakeIn(editor.value);
    if (mistake !== undefined) {
      answer.fail(mistake);
    } else {
      void guard(isChange ? confirm : run);
    }
  }

  async function confirm(): Promise<void> {
    answer.clear();
    const planned = editor.value;
    const asked = await createConfirmation(method, planned, () => void guard(run), question.close);
    if (planned === editor.value) {
      question.show(asked);
    }
  }

  async function run(): Promise<void> {
    question.close();
    running = new AbortController();
    stop.hidden = !isStream;
    if (isStream) {
      stop.focus();
    }
    answer.begin();
    const headers = takesIdempotencyKey ? { "idempotency-key": randomKey() } : {};
    const call = { method: path, request: editor.value, isStream, headers, signal: running.signal };
    const end = await sendCall(call, answer.addMessage);
    answer.end(end);
    // The change may have been a logout.
    if (isChange || end.error?.code === "UNAUTHENTICATED") {
      await session.refresh();
    }
  }

  /** Runs one thing at a time, and shows its failure. The button is not disabled, since it would lose the focus. */
  async function guard(work: () => Promise<void>): Promise<void> {
    if (isBusy) {
      return;
    }
    isBusy = true;
    send.setAttribute("aria-disabled", "true");
    try {
      await work();
    } catch (error) {
      if ((error as Error).name === "AbortError") {
        answer.stopped(isChange ? "An operation that the call has started continues." : "");
      } else {
        answer.fail("The gateway cannot be reached, or the connection was lost.");
      }
    }
    isBusy = false;
    send.removeAttribute("aria-disabled");
    if (document.activeElement === stop) {
      send.focus();
    }
    stop.hidden = true;
  }

  // The plan is that of another request.
  editor.addEventListener("input", question.close);
  editor.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      begin();
    }
  });
  if (method.role !== "anyone") {
    void session.refresh();
  }
  const label = element("label", {}, "Request, as JSON", editor);
  const row = element("div", { className: "row" }, send, stop, session.element);
  return element("div", { className: "try" }, label, row, question.element, answer.element);
}

/** Creates the place of the question before a change. When the question closes, its focus goes to `next`. */
function createQuestionPlace(next: HTMLElement) {
  const place = element("div", { hidden: true });
  return {
    element: place,
    show(question: HTMLElement): void {
      place.replaceChildren(question);
      place.hidden = false;
      question.focus();
    },
    close(): void {
      const hadFocus = place.contains(document.activeElement);
      place.replaceChildren();
      place.hidden = true;
      if (hadFocus) {
        next.focus();
      }
    },
  };
}

/** @returns what is wrong with a request that is not sent; undefined if it can be sent */
function mistakeIn(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return `The request is not JSON: ${(error as Error).message}`;
  }
}

/** Pages loaded over plain HTTP have no `crypto.randomUUID`. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

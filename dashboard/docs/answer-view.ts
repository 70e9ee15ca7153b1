import type { CallError } from "./call-error.ts";
import { element } from "./element.ts";
import type { CallEnd } from "./send-call.ts";

/** Older messages of a stream are removed from the page, so that it stays fast. */
const maxMessages = 100;
/** A longer message is cut. */
const maxCharacters = 200_000;

/** Shows how a call goes. */
export interface AnswerView {
  readonly element: HTMLElement;
  begin(): void;
  addMessage(json: string): void;
  end(end: CallEnd): void;
  /** Shows that the user stopped a stream, and a sentence about it. */
  stopped(note: string): void;
  /** Shows an error without an answer of the gateway. */
  fail(message: string): void;
  clear(): void;
}

/** Creates the elements, hidden until `begin`. @param isStream also shows how many messages arrived */
export function createAnswerView(isStream: boolean): AnswerView {
  const status = element("p", { className: "status", role: "status" });
  const request = element("p", { className: "quiet" });
  const detail = element("div");
  const messages = element("ol", { className: "messages", tabIndex: 0, "aria-label": "Messages" });
  const place = element("div", { hidden: true }, status, request, detail, messages);
  let count = 0;
  let startedAtMs = 0;

  function setStatus(state: "" | "ok" | "err", text: string): void {
    status.className = `status ${state}`;
    status.textContent = text;
  }

  return {
    element: place,
    begin() {
      count = 0;
      startedAtMs = performance.now();
      request.textContent = "";
      detail.replaceChildren();
      messages.replaceChildren();
      messages.hidden = true;
      place.hidden = false;
      setStatus("", isStream ? "Waiting for the first message" : "Sent");
    },
    addMessage(json) {
      count += 1;
      if (!isStream) {
        detail.replaceChildren(jsonBlock(json));
        return;
      }
      const isAtEnd = messages.scrollTop + messages.clientHeight >= messages.scrollHeight - 4;
      const time = new Date().toLocaleTimeString("en-GB");
      messages.hidden = false;
      messages.append(element("li", {}, element("time", {}, `${count} at ${time}`), jsonBlock(json)));
      if (messages.childElementCount > maxMessages) {
        messages.firstElementChild?.remove();
      }
      if (isAtEnd) {
        messages.scrollTop = messages.scrollHeight;
      }
      setStatus("", `Streaming: ${counted(count)} in ${duration(performance.now() - startedAtMs)}`);
    },
    end({ httpStatus, timeMs, requestId, error }) {
      const facts = [`HTTP ${httpStatus}`, duration(timeMs), ...(isStream ? [counted(count)] : [])];
      setStatus(error === undefined ? "ok" : "err", facts.join(" · "));
      request.textContent = requestId === "" ? "" : `Request ${requestId}`;
      if (error !== undefined) {
        detail.replaceChildren(errorNote(error));
      }
    },
    stopped(note) {
      request.textContent = note;
      setStatus("", `Stopped: ${counted(count)} in ${duration(performance.now() - startedAtMs)}`);
    },
    fail(message) {
      place.hidden = false;
      request.textContent = "";
      setStatus("err", "Not sent");
      detail.replaceChildren(element("p", { className: "note err" }, message));
    },
    clear() {
      place.hidden = true;
    },
  };
}

/** Shows an error of a call with its reason, which leads to its meaning. */
export function errorNote({ code, reason, message }: CallError): HTMLElement {
  const link = reason === "" ? [] : [" ", element("a", { href: `/docs/errors#reason-${reason}` }, reason)];
  return element(
    "div",
    { className: "note err" },
    element("strong", {}, code),
    ...link,
    element("p", {}, message),
  );
}

function jsonBlock(json: string): HTMLElement {
  const text = indented(json);
  const shown = text.length > maxCharacters ? `${text.slice(0, maxCharacters)}\n… cut` : text;
  return element("pre", { tabIndex: 0, role: "region", "aria-label": "Answer" }, element("code", {}, shown));
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

function counted(count: number): string {
  return count === 1 ? "1 message" : `${count} messages`;
}

function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

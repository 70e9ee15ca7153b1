/** An event as a page receives it. */
export interface ParsedEvent {
  /** `message` if the stream names no type. */
  readonly type: string;
  readonly data: string;
  readonly lastEventId: string;
}

/** Parses a stream of events as browsers do (HTML standard, 9.2.6, Interpreting an event stream). */
export interface EventParser {
  /** Takes more of the stream, and returns the events that are complete. */
  push(text: string): ParsedEvent[];
  readonly lastEventId: string;
  /** Last `retry` value of the stream. */
  readonly retryMs: number | undefined;
  readonly commentCount: number;
  /** Names of fields that browsers ignore. */
  readonly unknownFields: readonly string[];
}

export function createEventParser(): EventParser {
  let rest = "";
  let isStarted = false;
  let [data, type, idBuffer] = ["", "", ""];
  let lastEventId = "";
  let retryMs: number | undefined;
  let commentCount = 0;
  const unknownFields: string[] = [];

  function dispatch(): ParsedEvent[] {
    lastEventId = idBuffer;
    const events = data === "" ? [] : [{ type: type || "message", data: data.slice(0, -1), lastEventId }];
    [data, type] = ["", ""];
    return events;
  }

  function readLine(line: string): ParsedEvent[] {
    if (line === "") {
      return dispatch();
    }
    const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "" && line.startsWith(":")) {
      commentCount++;
    } else if (name === "data") {
      data += `${value}\n`;
    } else if (name === "event") {
      type = value;
    } else if (name === "id") {
      idBuffer = value.includes("\0") ? idBuffer : value;
    } else if (name === "retry") {
      retryMs = /^\d+$/.test(value) ? Number(value) : retryMs;
    } else {
      unknownFields.push(name);
    }
    return [];
  }

  return {
    push(text) {
      rest += text;
      if (!isStarted && rest !== "") {
        isStarted = true;
        rest = rest.replace(/^\uFEFF/, "");
      }
      const events: ParsedEvent[] = [];
      for (;;) {
        // A CR at the end may be half of a CRLF.
        const [whole, line] = /^([^\r\n]*)(?:\r\n|\n|\r(?=[^\n]))/.exec(rest) ?? [];
        if (whole === undefined || line === undefined) {
          return events;
        }
        rest = rest.slice(whole.length);
        events.push(...readLine(line));
      }
    },
    get lastEventId() {
      return lastEventId;
    },
    get retryMs() {
      return retryMs;
    },
    get commentCount() {
      return commentCount;
    },
    unknownFields,
  };
}

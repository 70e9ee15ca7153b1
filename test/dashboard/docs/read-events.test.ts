import { test } from "tap";
import { readEvents, type ServerEvent } from "../../../dashboard/docs/read-events.ts";

const stream =
  'retry: 1000\n\nid: 7\ndata: {"a":1}\n\n:\n\ndata: two\ndata: lines\n\nid: end\nevent: end\ndata: {}\n\n';

async function* inPieces(size: number): AsyncGenerator<string, void> {
  for (let at = 0; at < stream.length; at += size) {
    yield stream.slice(at, at + size);
  }
}

test("events are read whatever pieces they arrive in", async (t) => {
  for (const size of [1, 2, 7, stream.length]) {
    const events: ServerEvent[] = [];
    for await (const event of readEvents(inPieces(size))) {
      events.push(event);
    }
    t.same(events, [
      { type: "message", data: '{"a":1}' },
      { type: "message", data: "two\nlines" },
      { type: "end", data: "{}" },
    ]);
  }
});

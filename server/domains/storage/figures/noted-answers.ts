import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Snapshot } from "../../../../adapters/host/snapshot.ts";
import type { Call } from "../../../rpc/call/call.ts";
import { createSharedAnswers } from "../../../rpc/streams/shared-answers.ts";
import { type AnswerNotes, setNoteHeaders, setSnapshotAge } from "./answer-headers.ts";

/** Shared answers of one type, with their notes. */
export interface NotedAnswers<Desc extends DescMessage> {
  /**
   * Works like `SharedAnswers.of`, with the snapshot's value as the source. Sets headers on each call with the age of the
   * snapshot and the notes that the answer was built with.
   */
  of(
    call: Call,
    snapshot: Snapshot<object>,
    key: string,
    make: () => { readonly answer: MessageInitShape<Desc>; readonly notes: AnswerNotes },
  ): MessageShape<Desc>;
}

/** Starts without answers; each is dropped with its snapshot. */
export function createNotedAnswers<Desc extends DescMessage>(schema: Desc): NotedAnswers<Desc> {
  const answers = createSharedAnswers(schema);
  const notesOf = new WeakMap<object, AnswerNotes>();
  return {
    of(call, snapshot, key, make) {
      let created: AnswerNotes | undefined;
      const message = answers.of(snapshot.value, key, () => {
        const { answer, notes } = make();
        created = notes;
        return answer;
      });
      const notes = created ?? notesOf.get(message);
      if (notes !== undefined) {
        notesOf.set(message, notes);
        setNoteHeaders(call, notes);
      }
      setSnapshotAge(call, snapshot);
      return message;
    },
  };
}

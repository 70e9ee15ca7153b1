import { endStreamFlag } from "@connectrpc/connect/protocol-connect";
import { trailerFlag } from "@connectrpc/connect/protocol-grpc-web";
import type { AnswerTracker } from "./answer-tracker.ts";
import { createEnvelopeTracker } from "./envelope-tracker.ts";
import { createEventTracker } from "./event-tracker.ts";
import type { AnswerForm } from "./wire-form.ts";

/** @param sizeBytes length of a plain body, if the answer announces it */
export function createAnswerTracker(form: AnswerForm, sizeBytes: number | undefined): AnswerTracker {
  switch (form) {
    case "grpc":
      return ofEnvelopes(undefined);
    case "grpc-web":
      return ofEnvelopes(trailerFlag);
    case "grpc-web-text":
      return ofText(ofEnvelopes(trailerFlag));
    case "connect-stream":
      return ofEnvelopes(endStreamFlag);
    case "sse":
      return createEventTracker();
    case "plain":
      return ofPlain(sizeBytes);
  }
}

function ofEnvelopes(endBit: number | undefined): AnswerTracker {
  const envelopes = createEnvelopeTracker(endBit);
  return {
    ...envelopes,
    isWhole: () => envelopes.end() !== undefined && envelopes.isAtBoundary(),
  };
}

/** Base64 of several parts, each padded at its end. Four characters are decoded at a time. */
function ofText(inner: AnswerTracker): AnswerTracker {
  let carry = "";
  return {
    ...inner,
    push(chunk) {
      const text = carry + chunk.toString("latin1");
      const whole = text.length - (text.length % 4);
      carry = text.slice(whole);
      // Node's decoder stops at padding.
      for (const part of text.slice(0, whole).match(/[^=]+=*/g) ?? []) {
        inner.push(Buffer.from(part, "base64"));
      }
    },
    isAtBoundary: () => carry === "" && inner.isAtBoundary(),
    isWhole: () => carry === "" && inner.isWhole(),
  };
}

function ofPlain(sizeBytes: number | undefined): AnswerTracker {
  let passedBytes = 0;
  return {
    push(chunk) {
      passedBytes += chunk.byteLength;
    },
    isAtBoundary: () => false,
    isWhole: () => sizeBytes !== undefined && passedBytes === sizeBytes,
    end: () => undefined,
  };
}

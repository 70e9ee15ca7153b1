import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import fc from "fast-check";
import { test } from "tap";
import { hasReason, InfraError } from "../../../../../adapters/host/infra-error.ts";
import {
  EmptySchema,
  GetLVListRequestSchema,
  WatchResponseSchema,
} from "../../../../../gen/proto/lvmd_pb.ts";
import {
  bytesOfText,
  grpcWebTextType,
  grpcWebType,
  textEndOf,
} from "../../../../../server/rpc/protocols/wire/grpc-web-text.ts";
import { rpcReasons } from "../../../../../server/rpc/reasons.ts";
import { envelopesFrom } from "../../../harness/envelopes.ts";
import { createSharedGateway, startGatewayUnderTest } from "../../../harness/gateway-under-test.ts";
import { errorFromAnswer } from "../../../harness/raw-error.ts";
import { type RawAnswer, requestOver } from "../../../harness/raw-request.ts";

const sharedGateway = createSharedGateway();

const listPath = "/proto.VGService/GetLVList";
const textTypes = ["application/grpc-web-text", grpcWebTextType, "Application/gRPC-Web-Text; charset=utf-8"];

function listRequest(deviceClass: string): Uint8Array {
  return encodeEnvelope(0, toBinary(GetLVListRequestSchema, create(GetLVListRequestSchema, { deviceClass })));
}

function textOf(...parts: readonly Uint8Array[]): string {
  return parts.map((part) => Buffer.from(part).toString("base64")).join("");
}

/** Converts an answer to its binary form. */
function binaryAnswerOf(answer: RawAnswer): RawAnswer {
  return {
    ...answer,
    headers: { ...answer.headers, "content-type": grpcWebType },
    body: bytesOfText(answer.body),
  };
}

test("base64 is decoded whether it was encoded in one part or in two; anything else is refused", async (t) => {
  const bytes = fc.uint8Array({ maxLength: 40 });
  fc.assert(
    fc.property(fc.array(bytes, { maxLength: 2 }), (parts) => {
      t.ok(bytesOfText(Buffer.from(textOf(...parts))).equals(Buffer.concat(parts)));
    }),
  );
  fc.assert(
    fc.property(fc.oneof(bytes, fc.base64String().map(Buffer.from)), (body) => {
      try {
        const charCounts = Buffer.from(body)
          .toString("latin1")
          .split(/=+/)
          .map(({ length }) => length);
        const byteCount = charCounts.reduce((sum, count) => sum + Math.floor((count * 3) / 4), 0);
        t.equal(bytesOfText(Buffer.from(body)).byteLength, byteCount);
      } catch (error) {
        t.ok(hasReason(error, rpcReasons.MALFORMED_REQUEST));
      }
    }),
  );
  for (const body of ["AAAA=", "=", "AAA", "AA*A", "AAAA\n", "====", "AAAA====", "AA==AA==AA=="]) {
    t.throws(
      () => bytesOfText(Buffer.from(body)),
      new InfraError(rpcReasons.MALFORMED_REQUEST, "the body of application/grpc-web-text is not base64"),
      body,
    );
  }
});

test("the head of an envelope determines the maximum length of its base64", async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3000 }), fc.boolean(), (sizeBytes, isInParts) => {
      const envelope = encodeEnvelope(0, new Uint8Array(sizeBytes));
      const text = isInParts ? textOf(envelope.subarray(0, 5), envelope.subarray(5)) : textOf(envelope);
      const endBytes = textEndOf(Buffer.from(text), 2000);
      t.ok(
        sizeBytes > 2000
          ? endBytes === 0
          : (endBytes ?? 0) >= text.length && (endBytes ?? 0) < text.length + 9,
      );
    }),
  );
  t.equal(textEndOf(Buffer.from("AAAAAA"), 2000), undefined);
  t.equal(textEndOf(Buffer.from("no base64"), 2000), 0);
});

test("a unary call is answered as in binary mode, in base64", async (t) => {
  const { url } = await sharedGateway();
  for (const httpVersion of ["1.1", "2"] as const) {
    for (const deviceClass of ["", "none"]) {
      const call = async (type: string, body: Uint8Array | string) =>
        requestOver[httpVersion](url, { path: listPath, headers: { "content-type": type }, body });
      const envelope = listRequest(deviceClass);
      const binary = await call(grpcWebType, envelope);
      for (const type of textTypes) {
        for (const body of [textOf(envelope), textOf(envelope.subarray(0, 5), envelope.subarray(5))]) {
          const answer = await call(type, body);
          t.equal(answer.headers["content-type"], grpcWebTextType);
          const decoded = binaryAnswerOf(answer);
          t.equal(errorFromAnswer(decoded)?.reason, errorFromAnswer(binary)?.reason);
          t.same(messagesOf(decoded), messagesOf(binary), `${type} over HTTP/${httpVersion}`);
        }
      }
    }
  }
});

/** Returns the messages without trailers. */
function messagesOf({ body }: RawAnswer): readonly string[] {
  return envelopesFrom(body).flatMap(({ flags, data }) => (flags === 0 ? [data.toString("hex")] : []));
}

test("a body that is not base64, too large or more than one message is refused in text mode", async (t) => {
  const { url } = await startGatewayUnderTest(t, { limits: { maxMessageBytes: 65_536 } });
  const one = listRequest("");
  const tooLarge = encodeEnvelope(0, new Uint8Array(65_537));
  for (const [body, reason] of [
    ["*", "MALFORMED_REQUEST"],
    [textOf(tooLarge), "MESSAGE_TOO_LARGE"],
    [textOf(tooLarge).repeat(20), "MESSAGE_TOO_LARGE"],
    [textOf(one, one), "REQUEST_CARDINALITY"],
    ["", "REQUEST_CARDINALITY"],
  ] as const) {
    const answer = await requestOver["1.1"](url, {
      path: listPath,
      headers: { "content-type": grpcWebTextType },
      body,
    });
    t.equal(errorFromAnswer(binaryAnswerOf(answer))?.reason, reason, body.slice(0, 20));
  }
});

test("a message of a stream can be read before the stream ends", async (t) => {
  const { url } = await sharedGateway();
  const left = new AbortController();
  t.teardown(() => left.abort());
  const response = await fetch(`${url}/proto.VGService/Watch`, {
    method: "POST",
    headers: { "content-type": "application/grpc-web-text", accept: "application/grpc-web-text" },
    body: textOf(encodeEnvelope(0, toBinary(EmptySchema, create(EmptySchema)))),
    signal: left.signal,
  });
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    const [first] = envelopesFrom(bytesOfText(Buffer.from(text.slice(0, text.length - (text.length % 4)))));
    if (first !== undefined) {
      const { items } = fromBinary(WatchResponseSchema, first.data);
      t.not(items.length, 0);
      break;
    }
  }
});

test("a stream of requests, which gRPC-Web does not have, is refused", async (t) => {
  const { url } = await sharedGateway();
  const answer = await requestOver["2"](url, {
    path: "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    headers: { "content-type": grpcWebTextType },
    body: "",
  });
  t.equal(answer.status, 415);
});

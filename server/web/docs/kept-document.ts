import { createHash } from "node:crypto";
import { compressionNegotiate } from "@connectrpc/connect/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import { matchesEtag } from "../../rpc/protocols/http/etag.ts";
import { compressions } from "../../rpc/protocols/wire/compression.ts";

/** A document ready to be sent: rendered once, and compressed once per compression. */
export interface KeptDocument {
  readonly etag: string;
  /** By name of the compression; "" means none. */
  readonly bytesOf: (compression: string) => Promise<Uint8Array>;
}

/** Keeps a text for all requests. Nothing is compressed before a client asks for it. */
export function keepDocument(text: string): KeptDocument {
  const bytes = new Uint8Array(Buffer.from(text));
  const compressed = new Map<string, Promise<Uint8Array>>();
  return {
    etag: createHash("sha256").update(bytes).digest("base64url"),
    bytesOf(name) {
      const compression = compressions.find((one) => one.name === name);
      const known = compressed.get(name) ?? compression?.compress(bytes) ?? Promise.resolve(bytes);
      compressed.set(name, known);
      return known;
    },
  };
}

/** Sends a document, compressed as the client prefers, or 304 if the client has it. */
export async function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  kept: KeptDocument,
): Promise<FastifyReply> {
  const accepted = request.headers["accept-encoding"]?.toString() ?? null;
  const { response } = compressionNegotiate(compressions, null, accepted, "accept-encoding");
  const name = response?.name ?? "";
  const etag = `"${kept.etag}${name && `-${name}`}"`;
  reply.headers({ "cache-control": "no-cache", vary: "accept-encoding", etag });
  if (matchesEtag(request.headers["if-none-match"], etag)) {
    return reply.code(304).send();
  }
  if (name !== "") {
    reply.header("content-encoding", name);
  }
  return reply.send(await kept.bytesOf(name));
}

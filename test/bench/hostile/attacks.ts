import { randomBytes } from "node:crypto";
import * as http2 from "node:http2";
import * as net from "node:net";

/** The port that an attacker connects to, and the loopback address it connects from. */
export interface Front {
  readonly port: number;
  readonly localAddress: string;
}

/** Keeps one connection open until it is closed. */
export type Attack = (front: Front) => { readonly closed: Promise<void>; stop(): void };

const login = "/services.auth.AuthService/Login";
const zeros = Buffer.alloc(65_536);
const streamsOfConnection = 100;

/** An envelope that announces 16,000 bytes and contains all but one. */
const unfinished = Buffer.concat([Buffer.from([0, 0, 0, 0x3e, 0x80]), Buffer.alloc(15_999, 0x20)]);

function overSocket(begin: (socket: net.Socket) => void): Attack {
  return ({ port, localAddress }) => {
    const socket = net.connect({ port, host: "127.0.0.1", localAddress });
    socket.on("error", () => {});
    socket.once("connect", () => begin(socket));
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    return { closed, stop: () => socket.destroy() };
  };
}

function overHttp2(settings: http2.Settings, begin: (session: http2.ClientHttp2Session) => void): Attack {
  return ({ port, localAddress }) => {
    const session = http2.connect(`http://127.0.0.1:${port}`, {
      settings,
      createConnection: () => net.connect({ port, host: "127.0.0.1", localAddress }),
    });
    session.on("error", () => {});
    session.once("connect", () => begin(session));
    const closed = new Promise<void>((resolve) => session.once("close", () => resolve()));
    return { closed, stop: () => session.destroy() };
  };
}

function post(session: http2.ClientHttp2Session, path: string): http2.ClientHttp2Stream | undefined {
  if (session.destroyed || session.closed) {
    return undefined;
  }
  const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
  stream.on("error", () => {});
  return stream.resume();
}

function zerosOver(session: http2.ClientHttp2Session): void {
  const stream = post(session, login);
  if (stream === undefined) {
    return;
  }
  const write = () => {
    while (stream.writable && stream.write(zeros)) {}
  };
  stream.on("drain", write);
  stream.once("close", () => setTimeout(zerosOver, 1, session));
  write();
}

function unfinishedOver(session: http2.ClientHttp2Session, path: string): void {
  const stream = post(session, path);
  stream?.write(unfinished);
  stream?.once("close", () => setTimeout(unfinishedOver, 10, session, path));
}

function unreadOver(session: http2.ClientHttp2Session, path: string): void {
  if (session.destroyed || session.closed) {
    return;
  }
  const stream = session.request({ ":path": path });
  stream.on("error", () => {});
  stream.pause();
  stream.once("close", () => setTimeout(unreadOver, 10, session, path));
}

function eachStream(begin: () => void): void {
  for (let count = 0; count < streamsOfConnection; count += 1) {
    begin();
  }
}

/** The worst that callers without a login can do, by name. */
export const attacks: Readonly<Record<string, Attack>> = {
  "zeros over HTTP/2": overHttp2({}, zerosOver),
  "zeros over HTTP/1.1": overSocket((socket) => {
    socket.write(
      `POST ${login} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/grpc-web+proto\r\ncontent-length: 8388608\r\n\r\n`,
    );
    const write = () => {
      while (socket.writable && socket.write(zeros)) {}
    };
    socket.on("drain", write);
    socket.resume();
    write();
  }),
  "unfinished bodies over HTTP/2": overHttp2({}, (session) =>
    eachStream(() => unfinishedOver(session, login)),
  ),
  "unfinished bodies over HTTP/1.1": overSocket((socket) => {
    socket.write(
      `POST ${login} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 16000\r\n\r\n`,
    );
    socket.write(unfinished.subarray(6));
    socket.resume();
  }),
  "unread answers over HTTP/2": overHttp2({ initialWindowSize: 0 }, (session) =>
    eachStream(() => unreadOver(session, "/openapi.json")),
  ),
  "unread answers over HTTP/1.1": overSocket((socket) => {
    socket.pause();
    socket.write("GET /docs HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".repeat(100));
  }),
  garbage: overSocket((socket) => {
    socket.resume();
    socket.write(randomBytes(65_536));
  }),
  "garbage behind the preface of HTTP/2": overSocket((socket) => {
    socket.resume();
    socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    socket.write(randomBytes(65_536));
  }),
};

import { hashPassword } from "../../../server/domains/auth/password.ts";
import type { Bench, Side } from "../bench.ts";
import { openedRun } from "../load/opened-run.ts";
import { bareServer, buildSandbox, sandboxPassword } from "../servers/built-gateway.ts";
import { type ServerArgv, startServer } from "../servers/started-server.ts";

/**
 * Time from the start of a process until it serves, each time with a new data directory. The passwords of the first admin and of
 * the login are hashed, and argon2 is slow by design: the time of two hashes, measured here, is subtracted.
 */
export function createColdStart(): Bench {
  return {
    name: "cold-start",
    what: "start of a sandbox in a new directory, until Login and GetLVList succeed, minus two argon2 hashes",
    baseline: "a bare `node:http` server",
    unit: "ms",
    maxCost: 500,
    rounds: 7,
    coldRounds: 2,
    start: (nodeFlags) =>
      openedRun(async (opened) => {
        const sandbox = await buildSandbox(opened, nodeFlags);
        return {
          baseline: startsOf(bareServer),
          ours: startsOfGateway(sandbox),
          stop: () => opened.disposeAsync(),
        };
      }),
  };
}

function startsOf(argv: ServerArgv): Side {
  return {
    async measure() {
      const { startMs, stop } = await startServer(argv);
      await stop();
      return startMs;
    },
  };
}

function startsOfGateway(argv: ServerArgv): Side {
  return {
    async measure() {
      const { startMs, stop } = await startServer(argv, isServing);
      await stop();
      return startMs - (await hashMs()) - (await hashMs());
    },
  };
}

async function hashMs(): Promise<number> {
  const beganAtMs = performance.now();
  await hashPassword(sandboxPassword);
  return performance.now() - beganAtMs;
}

/**
 * Reports whether a user can log in and list volumes; false while nothing listens.
 * @throws Error when the first response is wrong
 */
async function isServing(port: number): Promise<boolean> {
  let login: Response;
  try {
    login = await call(port, "services.auth.AuthService/Login", {
      username: "admin",
      password: sandboxPassword,
    });
  } catch {
    return false;
  }
  const { token } = (await assertOk(login)) as { readonly token: string };
  await assertOk(await call(port, "proto.VGService/GetLVList", {}, { authorization: `Bearer ${token}` }));
  return true;
}

function call(port: number, method: string, message: object, headers = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(message),
  });
}

async function assertOk(answer: Response): Promise<unknown> {
  const text = await answer.text();
  if (!answer.ok) {
    throw new Error(`the first call returned ${answer.status}: ${text}`);
  }
  return JSON.parse(text);
}

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ListenerFacts } from "../rpc/call/listener-facts.ts";
import { html } from "./html.ts";
import { addPageHeaders } from "./security-headers.ts";

/** Path of the links; a code follows. */
export const loginLinkPath = "/login/";

export interface LoginLinkOptions {
  readonly listenerOf: (request: FastifyRequest) => ListenerFacts;
  /** Uses the code of a link up; returns the header `set-cookie` of the session, or undefined if the code is not valid. */
  readonly redeem: (code: string, isTls: boolean) => Promise<string | undefined>;
}

/**
 * Serves the links that log in once, as `serve --sandbox` prints them: the browser gets a session cookie and the dashboard. Only
 * GET uses a link up: programs that check links send HEAD.
 */
export async function loginLink(app: FastifyInstance, options: LoginLinkOptions): Promise<void> {
  const route = { exposeHeadRoute: false };
  app.get<{ Params: { code: string } }>(`${loginLinkPath}:code`, route, async (request, reply) => {
    const cookie = await options.redeem(request.params.code, options.listenerOf(request).isTls);
    addPageHeaders(reply);
    if (cookie === undefined) {
      return reply.code(410).type("text/html; charset=utf-8").send(usedPage.text);
    }
    return reply.header("set-cookie", cookie).redirect("/", 303);
  });
}

const usedPage = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>hostplane</title></head>
<body><h1>This link is not valid</h1>
<p>It works once, until the gateway stops. <a href="/">Log in with a password</a>, or restart the sandbox to get another link.</p>
</body></html>
`;

#!/usr/bin/env node
// Exits with 0 if the gateway of HOSTPLANE_DATA answers. Uses the admin socket, which does not depend on the configured
// listeners.
import { get } from "node:http";
import { join } from "node:path";

const data = process.env.HOSTPLANE_DATA || "data";

function isHealthy(socketPath) {
  return new Promise((resolve) => {
    const request = get({ socketPath, path: "/healthz", timeout: 2000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(false));
  });
}

const answers = await Promise.all(
  [data, join(data, "sandbox")].map((each) => isHealthy(join(each, "admin.sock"))),
);
process.exit(answers.includes(true) ? 0 : 1);

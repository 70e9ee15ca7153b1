import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { createServer } from "vite";

// `npm run dev`: a sandbox that restarts when its sources change, and the dashboard from source at another port. The dashboard's
// server forwards calls to the sandbox. The variables HOSTPLANE_LISTEN and HOSTPLANE_DATA choose its address and its data.

const address = process.env.HOSTPLANE_LISTEN ?? "127.0.0.1:8080";

/** Lets Vite put styles into the page by script. */
const nonce = "development";

/** The content security policy with which the gateway serves the dashboard (server/web/security-headers.ts), and the nonce. */
const contentSecurityPolicy = `default-src 'none'; script-src 'self' 'nonce-${nonce}'; style-src 'self' 'nonce-${nonce}'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`;

const watched = ["server", "adapters", "gen"].map((name) => `--watch-path=${name}`);
const argv = [...watched, "--watch-preserve-output", "server/main.ts", "serve", "--sandbox"];
const gateway = spawn(process.execPath, argv, { cwd: import.meta.dirname, stdio: "inherit" });

const pages = await createServer({
  root: resolve(import.meta.dirname, "dashboard"),
  html: { cspNonce: nonce },
  server: {
    headers: { "content-security-policy": contentSecurityPolicy },
    proxy: {
      // With the page's own Host, since the gateway compares it with the Origin.
      "^/(api|hostplane|proto|services|stats|cnct|operations|v1alpha|docs|openapi)": {
        target: `http://${address}`,
        changeOrigin: false,
      },
    },
  },
});
await pages.listen();
pages.printUrls();

async function stop(): Promise<void> {
  gateway.kill();
  await pages.close();
}

process.once("SIGINT", stop);
process.once("SIGTERM", stop);
gateway.once("exit", stop);

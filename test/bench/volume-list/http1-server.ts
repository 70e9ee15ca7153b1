import fastify from "fastify";
import { serveConnectFastify } from "./connect-fastify.ts";

await serveConnectFastify(fastify());

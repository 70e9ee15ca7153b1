import { z } from "zod";
import type { ConfigOf } from "../../config/config-of.ts";

/** The key `pods`. */
export const podsSchema = z.strictObject({
  podman: z
    .strictObject({
      socket: z
        .string()
        .regex(/^\/.{1,106}$/s, {
          error: "expected the absolute path of a unix socket, of at most 107 characters",
        })
        .default("/run/podman/podman.sock")
        .meta({
          description: "The unix socket of `podman system service`, rootful or of a user.",
        }),
    })
    .meta({ description: "The Podman whose pods and images are served." }),
});

/** Settings of the domain. */
export type PodsConfig = ConfigOf<typeof podsSchema>;

import { z } from "zod";

/** Full name of a service. */
export const serviceName = z.string().regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$/, {
  error: "expected the full name of a service, such as proto.VGService",
});

/** Full name of a method. */
export const methodPath = z.string().regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+\/[A-Za-z_]\w*$/, {
  error: "expected a method as service/method, such as proto.LVService/RemoveLV",
});

/** Full name of a service or a method. */
export const serviceOrMethod = z.string().regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+(\/[A-Za-z_]\w*)?$/, {
  error: "expected a service, such as proto.LVService, or a method, such as proto.LVService/RemoveLV",
});

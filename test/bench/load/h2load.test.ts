import { test } from "tap";
import { parseH2load } from "./h2load.ts";

const output = `starting benchmark...
spawning thread #0: 10 total client(s). 4000 total requests
Application protocol: h2c
progress: 10% done
progress: 100% done

finished in 1.20s, 3333.33 req/s, 3.50MB/s
requests: 4000 total, 4000 started, 4000 done, 3999 succeeded, 1 failed, 0 errored, 0 timeout
status codes: 3999 2xx, 0 3xx, 1 4xx, 0 5xx
traffic: 4.13MB (4332500) total, 121.09KB (124000) headers (space savings 92.17%), 3.92MB (4108000) data
                     min         max         mean         sd        +/- sd
time for request:     1.01ms     21.11ms     9.01ms     2.01ms    80.00%
`;

test("the summary of h2load has the number of successful calls and their bytes", async (t) => {
  t.same(parseH2load(output), { succeeded: 3_999, dataBytes: 4_108_000 });
});

test("any other output of h2load is an error that contains it", async (t) => {
  t.throws(() => parseH2load("could not connect"), /could not connect/);
});

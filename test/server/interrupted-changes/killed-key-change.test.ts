import { test } from "tap";
import { testKilledKeyChange } from "./killed-key-change.ts";

test("a change of the master key outlasts kill -9", (t) => testKilledKeyChange(t, "sqlite"));

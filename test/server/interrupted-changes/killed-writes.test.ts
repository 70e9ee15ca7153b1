import { test } from "tap";
import { testKilledWrites } from "./killed-writes.ts";

test("no acknowledged user, token or logout is lost by kill -9", (t) => testKilledWrites(t, "sqlite"));

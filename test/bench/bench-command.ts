// npm run bench: all but the hostile one, which has a report of its own and takes minutes, is in run.ts.
await import(process.argv[2] === "hostile" ? "./hostile/run-hostile.ts" : "./run.ts");

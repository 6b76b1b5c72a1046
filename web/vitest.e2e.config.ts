import { defineConfig } from 'vitest/config';

// One file after the other: each has a server, its agents and a browser of its own.
export default defineConfig({
  test: {
    environment: 'node',
    include: ['e2e/**/*.spec.ts'],
    fileParallelism: false,
    // Bounds for what never comes; nothing waits for a time. A busy machine is several times slower than an idle one.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000, interval: 50 } },
  },
});

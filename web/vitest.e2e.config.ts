import { defineConfig } from 'vitest/config';

// Files run one after the other: each starts a server, agents and a browser.
export default defineConfig({
  test: {
    environment: 'node',
    include: ['e2e/**/*.spec.ts'],
    fileParallelism: false,
    // Upper bounds only; no test waits for a fixed time. A busy machine is several times slower
    // than an idle one.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000, interval: 50 } },
  },
});

import { defineConfig } from 'vitest/config';
import e2e from './vitest.e2e.config.ts';

// `npm run pictures` uses the scenes' harness, but is not a test.
export default defineConfig({ test: { ...e2e.test, include: ['e2e/pictures.ts'], testTimeout: 300_000 } });

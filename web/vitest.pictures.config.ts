import { defineConfig } from 'vitest/config';
import e2e from './vitest.e2e.config.ts';

// `npm run pictures`: not a test, but it plays on the same stage.
export default defineConfig({ test: { ...e2e.test, include: ['e2e/pictures.ts'], testTimeout: 300_000 } });

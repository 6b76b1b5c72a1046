import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// `adjutant` serves the built page. During development: `adjutant up`, then `npx vite` with
// ADJUTANT_URL set.
const server = process.env['ADJUTANT_URL'] ?? 'http://127.0.0.1:3001';

// The server accepts only its own origin.
const proxied = { target: server, changeOrigin: true, headers: { origin: server } };

export default defineConfig({
  plugins: [react()],
  build: {
    target: 'es2023',
    // The policy allows fonts and pictures only as files of the server.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      output: {
        // Shared code is one chunk; many small ones compress worse.
        codeSplitting: {
          groups: [
            { name: 'frame', test: /src\/(api|shell|parts\/(?!Markdown|Code|Ansi)[A-Za-z.]+$)|node_modules\/(react|react-dom|scheduler|wouter|@tanstack|lucide-react|regexparam|use-sync)/ },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': proxied, '/mcp': proxied } },
  test: {
    environment: 'jsdom',
    setupFiles: ['src/testSetup.ts'],
    include: ['src/**/*.test.{ts,tsx}'],
  },
});

import './styles/fonts.css';
import './styles/tokens.css';
import './styles/base.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/client';
import { session } from './api/session';
import { App } from './app';
import { setTheme, theme } from './shell/theme';

// What is shown is kept true by events, so it grows old only when nobody listens.
const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => error instanceof ApiError && error.away && failures < 3,
    },
  },
});

setTheme(theme());
await session.start();
// What one token showed is not for the next.
session.subscribe(() => client.clear());
const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}

import './styles/fonts.css';
import './styles/tokens.css';
import './styles/base.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/client';
import { session } from './api/session';
import { App } from './app';
import { setTheme, getTheme } from './shell/theme';

// Events keep queries current, so data becomes stale only while nothing follows them.
const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => error instanceof ApiError && error.isUnreachable && failures < 3,
    },
  },
});

setTheme(getTheme());
await session.start();
// Data that one token could read must not be visible to the next.
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

import { lazy, useSyncExternalStore } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { session } from './api/session';
import { EmptyState } from './parts/EmptyState';
import { Login } from './shell/Login';
import { Page } from './shell/Page';
import { Shell } from './shell/Shell';

// Each page is a chunk of its own, loaded when it is first opened.
const Crew = lazy(() => import('./pages/crew/CrewPage'));
const Agent = lazy(() => import('./pages/agent/AgentPage'));
const Tasks = lazy(() => import('./pages/tasks/TasksPage'));
const Mail = lazy(() => import('./pages/mail/MailPage'));
const Reviews = lazy(() => import('./pages/reviews/ReviewsPage'));
const Record = lazy(() => import('./pages/record/RecordPage'));
const Costs = lazy(() => import('./pages/costs/CostsPage'));
const Settings = lazy(() => import('./pages/settings/SettingsPage'));

export function App() {
  const { token, signedOutReason } = useSyncExternalStore(session.subscribe, session.getState);
  if (token === null) return <Login reason={signedOutReason} />;
  return (
    <Shell>
      <Switch>
        <Route path="/">
          <Redirect to="/crew" replace />
        </Route>
        <Route path="/crew" component={Crew} />
        <Route path="/agents/:id" component={Agent} />
        <Route path="/tasks" component={Tasks} />
        <Route path="/mail/:thread?" component={Mail} />
        <Route path="/reviews/:id?" component={Reviews} />
        <Route path="/record" component={Record} />
        <Route path="/costs" component={Costs} />
        <Route path="/settings/:part?" component={Settings} />
        <Route>
          <Page name="Page not found">
            <EmptyState title="Page not found">No page has this address. Choose one in the rail at the left.</EmptyState>
          </Page>
        </Route>
      </Switch>
    </Shell>
  );
}

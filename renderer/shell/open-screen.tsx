import { Suspense } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../components/button.tsx';
import { CleanupBoundary, ErrorBoundary } from '../components/error-boundary.tsx';
import { EmptyState, LoadingRows } from '../components/state-panels.tsx';
import { screens, type Screen } from './screens.ts';

/** The screen of the address. Its crash stays inside it, and so does one that happens while it is left. */
export function OpenScreen({ screen }: { screen: Screen | undefined }) {
  const [location, navigate] = useLocation();
  if (!screen) {
    return (
      <div className="boundary">
        <EmptyState title="Page not found" reason="The link may be incomplete or outdated.">
          <Button onClick={() => navigate(`/${screens[0].id}`)}>Open the playground</Button>
        </EmptyState>
      </div>
    );
  }
  const Component = screen.component;
  return (
    <CleanupBoundary resetKey={screen.id}>
      <ErrorBoundary
        key={screen.id}
        name={screen.name}
        resetKey={location}
        // The address that crashed would crash again.
        onReload={() => navigate(`/${screen.id}`)}
      >
        <Suspense fallback={<LoadingRows label={`Loading ${screen.name}`} />}>
          <Component />
        </Suspense>
      </ErrorBoundary>
    </CleanupBoundary>
  );
}

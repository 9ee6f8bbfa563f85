import { useLocation } from 'wouter';

/**
 * Returns a function to call before a wait. What that returns navigates after the wait, unless a person has opened another page
 * meanwhile: they stay there. It compares the address itself, because React may not have been told of a new one yet.
 */
export function useNavigateFromHere(): () => ReturnType<typeof useLocation>[1] {
  const [, navigate] = useLocation();
  return () => {
    const { hash } = window.location;
    return (to, options) => {
      if (window.location.hash === hash) navigate(to, options);
    };
  };
}

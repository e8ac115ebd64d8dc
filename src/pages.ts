/** What is read when the first page or form is opened: one file, as most of what they are made of they share. */

export { JobPage } from './components/job/jobPage';
export { JobsPage } from './components/jobsPage/page';
export { rerunWith } from './components/rerun/dialog';
export { changeSubmission } from './components/submit/dialog';
export { JobsPage as JobsPageModel } from './models/jobs/jobsPage';
export { Planner } from './models/plans/plans';

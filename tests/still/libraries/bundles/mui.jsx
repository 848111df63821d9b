import { useState } from "react";
import { createRoot } from "react-dom/client";
import {
  Accordion,
  AccordionDetails,
  AccordionSummary,
  Alert,
  Autocomplete,
  Button,
  Dialog,
  DialogActions,
  DialogTitle,
  MenuItem,
  Select,
  Slider,
  Snackbar,
  Switch,
  TextField,
  Tooltip,
} from "@mui/material";

const TOWNS = ["Aldria", "Brenmoor", "Carrow", "Dunfell"];

function Page() {
  const [asked, ask] = useState(false);
  const [told, tell] = useState(false);
  const [size, resize] = useState("small");
  return (
    <>
      <Tooltip title="Opens a question" onOpen={() => say("tip")}>
        <Button id="ask" onClick={() => ask(true)}>
          Ask
        </Button>
      </Tooltip>
      <TextField id="name" label="Name" onChange={(e) => say(`name.${e.target.value}`)} />
      <Autocomplete
        id="town"
        options={TOWNS}
        onChange={(_, town) => say(`town.${town}`)}
        onOpen={() => say("list")}
        renderInput={(props) => <TextField {...props} label="Town" />}
      />
      <Select
        id="size"
        value={size}
        onChange={(e) => {
          resize(e.target.value);
          say(`size.${e.target.value}`);
        }}
      >
        <MenuItem value="small">Small</MenuItem>
        <MenuItem value="large">Large</MenuItem>
      </Select>
      <Switch id="switch" onChange={(e) => say(`switch.${e.target.checked}`)} />
      <Slider id="slider" aria-label="Amount" onChange={(_, amount) => say(`amount.${amount}`)} />
      <Accordion onChange={(_, open) => say(`fold.${open}`)}>
        <AccordionSummary id="fold">More</AccordionSummary>
        <AccordionDetails>There is no more.</AccordionDetails>
      </Accordion>
      <Dialog
        open={asked}
        onClose={() => ask(false)}
        slotProps={{
          transition: { onEntered: () => say("entered"), onExited: () => say("exited") },
        }}
      >
        <DialogTitle>Really?</DialogTitle>
        <DialogActions>
          <Button
            id="yes"
            onClick={() => {
              ask(false);
              tell(true);
              say("yes");
            }}
          >
            Yes
          </Button>
        </DialogActions>
      </Dialog>
      <Snackbar
        open={told}
        autoHideDuration={1500}
        onClose={(_, why) => {
          tell(false);
          say(`closed.${why}`);
        }}
      >
        <Alert severity="success">It is done</Alert>
      </Snackbar>
    </>
  );
}

createRoot(document.getElementById("app")).render(<Page />);
